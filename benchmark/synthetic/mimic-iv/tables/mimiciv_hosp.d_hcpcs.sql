select * from (values
  ('99217', 7, 'Hospital observation services', 'Observation care discharge'), ('99218', 7, 'Hospital observation services', 'Initial observation care'),
  ('99219', 7, 'Hospital observation services', 'Initial observation care'), ('G0378', 7, 'Hospital observation service, per hour', 'Hospital observation per hr')
) codes(code, category, long_description, short_description)
