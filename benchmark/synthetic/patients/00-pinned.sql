-- Stays whose values are partly set beforehand (pinned_value.csv), so that every class of every score occurs within
-- 290 stays, for any seed, without the other stays having to be wilder than reality. Case 0 is stay 3, case 1 is
-- stay 13, and so on: one stay in ten of the first 290; of 10,000 stays that is one in 345.
pivot (select case_number * 10 + 3 as i, case_number * 8 + 3 as p, quantity, value from pinned_value where from_hour is null)
on quantity using first(value) group by i, p
