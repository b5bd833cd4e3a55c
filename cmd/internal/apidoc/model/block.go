package model

// Block is a group of constants with the comment above it.
type Block struct {
	// Doc is that comment, in one line.
	Doc string
	// Consts are its exported constants, in the order of the source.
	Consts []Constant
}

// Constant is one exported constant.
type Constant struct {
	// Name is its name in Go.
	Name string
	// Value is its expression as it is written.
	Value string
	// Doc is its comment, in one line; that of the group where it has none.
	Doc string
	typ string
}
