package guards

// CheckWithin is Check with a bound on the evaluation of the guards.
var CheckWithin = check
