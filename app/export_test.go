package app

// EveryState gives the states that the menus of the golden files are of.
func EveryState() map[string]State { return states() }
