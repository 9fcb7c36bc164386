select subject_id, hadm_id, cast(admittime as date) as chartdate, 'G0378' as hcpcs_cd, 1 as seq_num, 'Hospital observation per hr' as short_description
from hospital where admission_type in ('EU OBSERVATION', 'AMBULATORY OBSERVATION', 'DIRECT OBSERVATION')
