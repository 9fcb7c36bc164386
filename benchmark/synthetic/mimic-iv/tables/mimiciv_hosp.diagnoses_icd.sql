with coded as (
  select hospital.subject_id, hospital.hadm_id, hospital.a, codes.*,
    hospital.a * 1000 + codes.n as key,
    -- some admissions are coded in depth: the commonest diagnoses without a score, twice and a half as often on average
    codes.share * case when codes.n > 200 then 0.8 + 3.4 * u('coding depth', hospital.a) else 1 end + case when codes.archetype = hospital.archetype then codes.boost else 0 end as probability
  from hospital join diagnosis_code codes using (icd_version)
)
select subject_id, hadm_id,
  row_number() over (partition by hadm_id order by probability desc, n) as seq_num, icd_code, icd_version
from coded where u('diagnosis', key) < probability and u('no diagnosis', a) >= 0.01
