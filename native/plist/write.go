package plist

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

const head = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
`

// Write gives a value as a property list, dictionaries sorted by key, so that
// the same value has the same bytes. It takes what Parse gives, and int and
// []string beside it; the error names the place of anything else.
func Write(v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(head)
	if err := write(&b, "", v); err != nil {
		return nil, fmt.Errorf("property list: %w", err)
	}
	b.WriteString("</plist>\n")
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, indent string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		b.WriteString(indent + "<dict>\n")
		for _, key := range slices.Sorted(maps.Keys(v)) {
			tag(b, indent+"\t", "key", key)
			if err := write(b, indent+"\t", v[key]); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		b.WriteString(indent + "</dict>\n")
	case []any:
		return writeArray(b, indent, v)
	case []string:
		return writeArray(b, indent, v)
	case string:
		tag(b, indent, "string", v)
	case bool:
		fmt.Fprintf(b, "%s<%t/>\n", indent, v)
	case int:
		tag(b, indent, "integer", strconv.Itoa(v))
	case int64:
		tag(b, indent, "integer", strconv.FormatInt(v, 10))
	case float64:
		tag(b, indent, "real", strconv.FormatFloat(v, 'g', -1, 64))
	case []byte:
		tag(b, indent, "data", base64.StdEncoding.EncodeToString(v))
	default:
		return fmt.Errorf("a property list cannot hold a %T", v)
	}
	return nil
}

func writeArray[T any](b *bytes.Buffer, indent string, array []T) error {
	b.WriteString(indent + "<array>\n")
	for n, element := range array {
		if err := write(b, indent+"\t", element); err != nil {
			return fmt.Errorf("element %d: %w", n, err)
		}
	}
	b.WriteString(indent + "</array>\n")
	return nil
}

func tag(b *bytes.Buffer, indent, name, text string) {
	b.WriteString(indent + "<" + name + ">")
	_ = xml.EscapeText(b, []byte(text)) // a buffer takes everything
	b.WriteString("</" + name + ">\n")
}
