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
	reference := flag.String("reference", "", "the reference, the `file` to write")
	flag.Parse()
	if *schema == "" || *types == "" || *page == "" || *reference == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*src, *schema, *types, *page, *reference); err != nil {
		fmt.Fprintln(os.Stderr, "apischema:", err)
		os.Exit(1)
	}
}

// write makes all before it writes any.
func write(src, schema, types, page, reference string) error {
	c, err := readAPI(src)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := c.page(old)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{schema: c.schema(), types: c.typeScript(), page: text, reference: c.reference()} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
