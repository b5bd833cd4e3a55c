package plist

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxDepth is deeper than the deepest registry of a Mac.
const maxDepth = 200

// Parse reads a whole property list. It takes what Apple's own tools write and
// nothing beside it: a key stands once in a dictionary and before its value, and
// there is no text between elements. An error names the line. An integer too
// large for 63 bits wraps: ioreg prints some numbers as unsigned.
func Parse(text []byte) (any, error) {
	r := &reader{d: xml.NewDecoder(bytes.NewReader(text))}
	v, err := r.list()
	if err != nil {
		line, _ := r.d.InputPos()
		return nil, fmt.Errorf("property list, line %d: %w", line, err)
	}
	return v, nil
}

// reader reads one property list.
type reader struct{ d *xml.Decoder }

// list reads the outermost element, its one value, and nothing after it.
func (r *reader) list() (any, error) {
	outer, err := r.next()
	if err != nil {
		return nil, err
	}
	if outer == nil || outer.Name.Local != "plist" {
		return nil, errors.New("does not begin with <plist>")
	}
	first, err := r.next()
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, errors.New("holds no value")
	}
	v, err := r.value(*first, 0)
	if err != nil {
		return nil, err
	}
	if more, err := r.next(); err != nil || more != nil {
		return nil, errors.Join(err, errors.New("has more than one value"))
	}
	if more, err := r.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("goes on after its end (%v, %w)", more, err)
	}
	return v, nil
}

// next is the next element that begins, or nil at the end of what is around it.
func (r *reader) next() (*xml.StartElement, error) {
	for {
		token, err := r.d.Token()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			return &token, nil
		case xml.EndElement:
			return nil, nil
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				return nil, fmt.Errorf("the text %.40q belongs to no element", text)
			}
		}
	}
}

// value reads the value that an element has begun.
func (r *reader) value(start xml.StartElement, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	switch start.Name.Local {
	case "dict":
		return r.dict(depth)
	case "array":
		return r.array(depth)
	}
	text, err := r.text(start)
	if err != nil {
		return nil, err
	}
	switch start.Name.Local {
	case "string", "date":
		return text, nil
	case "integer":
		return integer(strings.TrimSpace(text))
	case "real":
		return strconv.ParseFloat(strings.TrimSpace(text), 64)
	case "true", "false":
		if text != "" {
			return nil, fmt.Errorf("<%s> holds the text %.40q", start.Name.Local, text)
		}
		return start.Name.Local == "true", nil
	case "data":
		return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	}
	return nil, fmt.Errorf("there is no element <%.40s>", start.Name.Local)
}

// text reads what stands in an element that holds no others.
func (r *reader) text(start xml.StartElement) (string, error) {
	var text strings.Builder
	for {
		token, err := r.d.Token()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			return "", fmt.Errorf("<%.40s> stands in <%.40s>", token.Name.Local, start.Name.Local)
		case xml.EndElement:
			return text.String(), nil
		}
	}
}

func integer(text string) (any, error) {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(text, 0, 64)
	return int64(n), err
}

func (r *reader) array(depth int) (any, error) {
	array := []any{}
	for {
		child, err := r.next()
		if err != nil || child == nil {
			return array, err
		}
		v, err := r.value(*child, depth+1)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
}

func (r *reader) dict(depth int) (any, error) {
	dict := map[string]any{}
	for {
		child, err := r.next()
		if err != nil || child == nil {
			return dict, err
		}
		if child.Name.Local != "key" {
			return nil, fmt.Errorf("<%.40s> stands where a key should", child.Name.Local)
		}
		key, err := r.text(*child)
		if err != nil {
			return nil, err
		}
		if _, there := dict[key]; there {
			return nil, fmt.Errorf("the key %.40q stands twice in one dictionary", key)
		}
		value, err := r.next()
		if err != nil {
			return nil, err
		}
		if value == nil {
			return nil, fmt.Errorf("the key %.40q has no value", key)
		}
		if dict[key], err = r.value(*value, depth+1); err != nil {
			return nil, err
		}
	}
}
