package scan

// maxDepth is how deep values may lie in each other, as for encoding/json.
const maxDepth = 10000

// Valid reports whether data is a JSON text, as [encoding/json.Valid] does.
func Valid(data []byte) bool {
	i := value(data, space(data, 0), 0)
	return i >= 0 && space(data, i) == len(data)
}

// space is where what is no space begins.
func space(d []byte, i int) int {
	for i < len(d) && (d[i] == ' ' || d[i] == '\n' || d[i] == '\t' || d[i] == '\r') {
		i++
	}
	return i
}

// value is the end of the value that begins at i; -1 where there is none. It lies
// in as many others as depth says.
func value(d []byte, i, depth int) int {
	if i >= len(d) {
		return -1
	}
	switch c := d[i]; {
	case c == '"':
		return text(d, i)
	case c == '{' || c == '[':
		return members(d, i, depth, nil)
	case c == '-' || digit(d, i):
		return number(d, i)
	case c == 't':
		return word(d, i, "true")
	case c == 'f':
		return word(d, i, "false")
	case c == 'n':
		return word(d, i, "null")
	}
	return -1
}

// members is the end of the object or list that begins at i. Its members are given
// to each, where there is one; what each refuses is no such object or list.
func members(d []byte, i, depth int, each func(name, value []byte) bool) int {
	if depth++; depth > maxDepth {
		return -1
	}
	isObject, end := d[i] == '{', d[i]+2 // ']' and '}' are two after '[' and '{'
	i = space(d, i+1)
	if i < len(d) && d[i] == end {
		return i + 1
	}
	for {
		var name []byte
		if isObject {
			from := i
			if i = text(d, i); i < 0 {
				return -1
			}
			name = d[from+1 : i-1]
			if i = space(d, i); i >= len(d) || d[i] != ':' {
				return -1
			}
			i = space(d, i+1)
		}
		from := i
		if i = value(d, i, depth); i < 0 || each != nil && !each(name, d[from:i:i]) {
			return -1
		}
		switch i = space(d, i); {
		case i >= len(d):
			return -1
		case d[i] == end:
			return i + 1
		case d[i] != ',':
			return -1
		}
		i = space(d, i+1)
	}
}

// text is the end of the string that begins at i. Bytes that are no UTF-8 pass, as
// they do in encoding/json, which decodes them as U+FFFD.
func text(d []byte, i int) int {
	if i >= len(d) || d[i] != '"' {
		return -1
	}
	for i++; i < len(d); i++ {
		switch c := d[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i >= len(d) {
				return -1
			}
			switch d[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if i++; i >= len(d) || !isHex(d[i]) {
						return -1
					}
				}
			default:
				return -1
			}
		}
	}
	return -1
}

// number is the end of the number that begins at i.
func number(d []byte, i int) int {
	if d[i] == '-' {
		i++
	}
	switch {
	case !digit(d, i):
		return -1
	case d[i] == '0':
		i++
	default:
		i = digits(d, i)
	}
	if i < len(d) && d[i] == '.' {
		if i++; !digit(d, i) {
			return -1
		}
		i = digits(d, i)
	}
	if i < len(d) && d[i]|0x20 == 'e' {
		if i++; i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		if !digit(d, i) {
			return -1
		}
		i = digits(d, i)
	}
	return i
}

func digits(d []byte, i int) int {
	for digit(d, i) {
		i++
	}
	return i
}

func digit(d []byte, i int) bool { return i < len(d) && d[i] >= '0' && d[i] <= '9' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// word is the end of a word that begins at i.
func word(d []byte, i int, w string) int {
	if len(d)-i < len(w) || string(d[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}
