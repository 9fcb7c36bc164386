select icd_code, icd_version, long_title from diagnosis_code
