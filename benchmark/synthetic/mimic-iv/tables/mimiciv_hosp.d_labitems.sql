select * from lab_item
