package bundle

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxInfo bounds what is read of an Info.plist.
const maxInfo = 1 << 20

// VersionOf tells one bundle of an app at a path from another: by the versions in
// its Info.plist, and by the folder itself, since two builds may have the same ones.
// Empty where there is no bundle with that identifier.
func VersionOf(path, identifier string) string {
	file, err := os.Open(filepath.Join(path, "Contents", "Info.plist"))
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxInfo))
	if err != nil {
		return ""
	}
	info := readInfo(text)
	if info["CFBundleIdentifier"] != identifier {
		return ""
	}
	folder, err := os.Stat(path)
	if err != nil {
		return ""
	}
	inode := uint64(0)
	if s, ok := folder.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Sprintf("%s (%s), %d", info["CFBundleShortVersionString"], info["CFBundleVersion"], inode)
}

// readInfo reads the texts of a property list in XML, by their keys; what is no such
// list has none.
func readInfo(text []byte) map[string]string {
	found := map[string]string{}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	key, depth := "", 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return found
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if depth != 3 { // plist, dict, and what is in it
				continue
			}
			var value string
			if t.Name.Local != "key" && t.Name.Local != "string" {
				key = ""
				if decoder.Skip() != nil {
					return found
				}
				depth--
				continue
			}
			if decoder.DecodeElement(&value, &t) != nil {
				return found
			}
			depth--
			if t.Name.Local == "key" {
				key = value
			} else if key != "" {
				found[key], key = value, ""
			}
		case xml.EndElement:
			depth--
		}
	}
}
