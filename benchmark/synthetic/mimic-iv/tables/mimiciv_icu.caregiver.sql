select caregiver_id from range(1, 41) caregivers(caregiver_id)
