package darwin

// Property lists as decodeAs gives them, looked into without a panic: a wrong type
// is as good as nothing.

func listMap(v any, path ...string) map[string]any {
	m, _ := v.(map[string]any)
	for _, key := range path {
		m, _ = m[key].(map[string]any)
	}
	return m
}

func listText(v any, path ...string) string {
	if len(path) > 0 {
		v = listMap(v, path[:len(path)-1]...)[path[len(path)-1]]
	}
	s, _ := v.(string)
	return s
}

// listTexts are the texts of an array; others in it are passed over.
func listTexts(v any) []string {
	array, _ := v.([]any)
	out := make([]string, 0, len(array))
	for _, element := range array {
		if s, ok := element.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// listTrue reads a boolean, which some write as a number.
func listTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int64:
		return v != 0
	}
	return false
}
