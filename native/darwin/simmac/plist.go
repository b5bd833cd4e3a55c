package simmac

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxPlistDepth is deeper than the deepest registry.
const maxPlistDepth = 200

// ParseIoreg reads what `ioreg -a` prints: a property list of one entry with what
// hangs from it, or an array of such. The result is a root without a name.
func ParseIoreg(text []byte) (*Node, error) {
	d := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("no property list: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local == "plist" {
			continue
		}
		v, err := plistValue(d, start, 0)
		if err != nil {
			return nil, err
		}
		root := &Node{}
		entries, isArray := v.([]any)
		if !isArray {
			entries = []any{v}
		}
		for i, e := range entries {
			if err := hang(root, e, i); err != nil {
				return nil, err
			}
		}
		return root, nil
	}
}

// hang makes a node of an entry's dictionary.
func hang(parent *Node, v any, place int) error {
	entry, ok := v.(map[string]any)
	if !ok {
		return errors.New("an entry that is no dictionary")
	}
	class, _ := entry["IOObjectClass"].(string)
	name, _ := entry["IORegistryEntryName"].(string)
	location, _ := entry["IORegistryEntryLocation"].(string)
	properties := map[string]any{}
	for key, value := range entry {
		// What ioreg adds about the entry itself is no property of it.
		if !strings.HasPrefix(key, "IORegistryEntry") && !strings.HasPrefix(key, "IOObject") && !strings.HasPrefix(key, "IOService") {
			properties[key] = value
		}
	}
	node := parent.Add(class, name, location, properties)
	node.Key += "#" + strconv.Itoa(place) // two of one name may hang side by side
	children, _ := entry["IORegistryEntryChildren"].([]any)
	for i, child := range children {
		if err := hang(node, child, i); err != nil {
			return err
		}
	}
	return nil
}

// plistValue reads the value that a tag has begun.
func plistValue(d *xml.Decoder, start xml.StartElement, depth int) (any, error) {
	if depth > maxPlistDepth {
		return nil, errors.New("nested too deep")
	}
	switch start.Name.Local {
	case "dict":
		return plistDict(d, depth)
	case "array":
		return plistArray(d, depth)
	}
	var text string
	if err := d.DecodeElement(&text, &start); err != nil {
		return nil, err
	}
	switch start.Name.Local {
	case "string", "date":
		return text, nil
	case "integer":
		text = strings.TrimSpace(text)
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			return n, nil
		}
		n, err := strconv.ParseUint(text, 0, 64) // ioreg prints some as unsigned
		return int64(n), err
	case "real":
		return strconv.ParseFloat(strings.TrimSpace(text), 64)
	case "true", "false":
		return start.Name.Local == "true", nil
	case "data":
		return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	}
	return nil, fmt.Errorf("an element %.40q", start.Name.Local)
}

func plistArray(d *xml.Decoder, depth int) (any, error) {
	array := []any{}
	for {
		child, err := nextElement(d)
		if err != nil || child == nil {
			return array, err
		}
		v, err := plistValue(d, *child, depth+1)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
}

func plistDict(d *xml.Decoder, depth int) (any, error) {
	dict := map[string]any{}
	for {
		child, err := nextElement(d)
		if err != nil || child == nil {
			return dict, err
		}
		var key string
		if child.Name.Local != "key" {
			return nil, fmt.Errorf("an element %.40q where a key should be", child.Name.Local)
		}
		if err := d.DecodeElement(&key, child); err != nil {
			return nil, err
		}
		value, err := nextElement(d)
		if err == nil && value == nil {
			err = fmt.Errorf("the key %.40q has no value", key)
		}
		if err != nil {
			return nil, err
		}
		if dict[key], err = plistValue(d, *value, depth+1); err != nil {
			return nil, err
		}
	}
}

// nextElement is the next that begins, or nil at the end of what is around it.
func nextElement(d *xml.Decoder) (*xml.StartElement, error) {
	for {
		token, err := d.Token()
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
		}
	}
}
