select cast(icd_code as varchar) as icd_code, icd_version, long_title from procedure_code
