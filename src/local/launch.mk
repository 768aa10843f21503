# launch
