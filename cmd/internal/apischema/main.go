package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	src := flag.String("src", ".", "`folder` of the source of daemon/api")
	schema := flag.String("schema", "", "JSON Schema, the `file` to write")
	types := flag.String("types", "", "TypeScript types, the `file` to write")
	page := flag.String("page", "", "page of the documentation, the `file` in which to write the tables")
	flag.Parse()
	if *schema == "" || *types == "" || *page == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*src, *schema, *types, *page); err != nil {
		fmt.Fprintln(os.Stderr, "apischema:", err)
		os.Exit(1)
	}
}

// write makes all before it writes any.
func write(src, schema, types, page string) error {
	m, err := readAPI(src)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := m.page(old)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{schema, m.schema()}, {types, m.typeScript()}, {page, text}} {
		if err := os.WriteFile(f.name, f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
