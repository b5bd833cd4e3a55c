package simmac

import (
	"errors"
	"strconv"
	"strings"

	"fulmen/native/plist"
)

// ParseIoreg reads what `ioreg -a` prints: a property list of one entry with what
// hangs from it, or an array of such. The result is a root without a name.
func ParseIoreg(text []byte) (*Node, error) {
	v, err := plist.Parse(text)
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

// hang makes a node of an entry's dictionary.
func hang(parent *Node, v any, place int) error {
	entry, ok := v.(map[string]any)
	if !ok {
		return errors.New("an entry is not a dictionary")
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
