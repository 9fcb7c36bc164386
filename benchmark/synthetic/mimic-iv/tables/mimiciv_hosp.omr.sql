with visits as (
  select subject_id, a, cast(admittime as date) - 30 * cast(visit as integer) as chartdate, weight_kg, height_cm, visit from hospital, range(3) visits(visit)
)
select subject_id, chartdate, 1 as seq_num, unnest(['Weight (Lbs)', 'Height (Inches)', 'BMI (kg/m2)', 'Blood Pressure']) as result_name,
  unnest([shortest(round(weight_kg * 2.205, 1)), shortest(round(height_cm / 2.54, 1)), shortest(round(weight_kg / (height_cm * height_cm / 10000), 1)),
    cast(110 + cast(floor(50 * u('clinic systolic', a * 10 + visit)) as integer) as varchar) || '/' || cast(60 + cast(floor(30 * u('clinic diastolic', a * 10 + visit)) as integer) as varchar)]) as result_value
from visits
