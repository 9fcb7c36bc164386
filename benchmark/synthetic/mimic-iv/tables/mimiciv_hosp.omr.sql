select subject_id, cast(admittime as date) as chartdate, 1 as seq_num, 'Weight (Lbs)' as result_name, shortest(round(weight_kg * 2.205, 1)) as result_value
from hospital
