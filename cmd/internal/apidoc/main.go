package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	src := flag.String("src", ".", "`folder` of the source of daemon/api")
	out := flag.String("out", "", "`file` to write")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*src, *out); err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

func write(src, out string) error {
	text, err := render(src)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}
