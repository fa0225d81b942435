package backup

// WriteTo writes a backup of a database file of that description.
var WriteTo = write
