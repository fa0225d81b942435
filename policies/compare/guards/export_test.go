package guards

// CheckWithin is Check with bounds on the comparison and on the evaluation of the guards.
var CheckWithin = check
