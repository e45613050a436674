module purse

go 1.21
