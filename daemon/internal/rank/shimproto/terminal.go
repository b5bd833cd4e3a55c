package shimproto

// Terminal is the size of a program's terminal, in characters.
type Terminal struct {
	Rows    int `json:"rows"`    // 1 to 65535
	Columns int `json:"columns"` // 1 to 65535
}

// maxTerminal is the largest number that the system takes for a side.
const maxTerminal = 65535

// Check returns a [FieldError] for a size that no terminal can have.
func (t Terminal) Check() error {
	if t.Rows < 1 || t.Rows > maxTerminal {
		return badField("rows", "%d is outside 1 to %d", t.Rows, maxTerminal)
	}
	if t.Columns < 1 || t.Columns > maxTerminal {
		return badField("columns", "%d is outside 1 to %d", t.Columns, maxTerminal)
	}
	return nil
}
