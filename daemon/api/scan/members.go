package scan

// Object gives the members of an object in their order: the name as it is spelled
// between its quotes, and the value, which is a valid one. Both are parts of data,
// and names may come twice. It reports whether data is an object and each said yes
// to every member; it stops at the first for which each says no, and so with
// members given of a text that turns out to be none.
func Object(data []byte, each func(name, value []byte) bool) bool { return all(data, '{', each) }

// List gives the elements of a list, as Object does the members of an object.
func List(data []byte, each func(value []byte) bool) bool {
	return all(data, '[', func(_, value []byte) bool { return each(value) })
}

func all(data []byte, first byte, each func(name, value []byte) bool) bool {
	i := space(data, 0)
	if i >= len(data) || data[i] != first {
		return false
	}
	i = members(data, i, 0, each)
	return i >= 0 && space(data, i) == len(data)
}

// Text is a string of ASCII characters none of which is escaped. Of any other value,
// a string too, it returns false.
func Text(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	inside := value[1 : len(value)-1]
	return string(inside), Plain(inside)
}

// Plain reports whether text is the same in JSON as it is: printable ASCII that
// needs no escape, also not those that encoding/json writes by itself.
func Plain[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&':
			return false
		}
	}
	return true
}
