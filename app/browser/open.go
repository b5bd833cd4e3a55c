package browser

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// Open has the desktop open an address of http or https. The caller runs done once
// the browser has it, or no longer needs it: on Linux a file is there until then.
func Open(ctx context.Context, address string) (done func(), err error) {
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return nil, fmt.Errorf("%s is not an address of a browser", address)
	}
	if runtime.GOOS == "darwin" {
		return func() {}, run(ctx, appleScript(address), "/usr/bin/osascript", "-")
	}
	page, err := write(address)
	if err != nil {
		return nil, err
	}
	if err := run(ctx, "", "xdg-open", page.path); err != nil {
		page.remove()
		return nil, err
	}
	return page.remove, nil
}

// appleScript opens an address in the default browser. The program reads it from
// its standard input, and the address reaches the browser as an Apple event.
func appleScript(address string) string {
	return `open location "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(address) + `"` + "\n"
}

func run(ctx context.Context, input, program string, args ...string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Stdin = strings.NewReader(input)
	if err := c.Run(); err != nil {
		return fmt.Errorf("the browser cannot be opened: %s: %w", program, err)
	}
	return nil
}
