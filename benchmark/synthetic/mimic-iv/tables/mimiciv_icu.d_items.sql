select * from item
