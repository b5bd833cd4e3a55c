package darwin

import (
	"context"
	"os/exec"
	"strconv"

	"fulmen/native"
)

// gpuUse is the driver's own figure, which needs no counters.
func (m *machine) gpuUse() (float64, error) {
	var s native.System
	if m.setGPUUse(&s); s.GPUUseRatio == nil {
		return 0, native.Unsupported(native.FeatureProcesses, s.Unknown["gpu_use_ratio"])
	}
	return *s.GPUUseRatio, nil
}

// sampleProgram looks at a process every millisecond for so many seconds, and prints the tree
// of calls of each thread. A process that ends meanwhile is no error.
const sampleProgram, sampleSeconds = "/usr/bin/sample", "1"

// stacks is what the threads of a process are in.
func stacks(ctx context.Context, process int) (string, error) {
	text, err := exec.CommandContext(ctx, sampleProgram, strconv.Itoa(process), sampleSeconds, "-mayDie").Output()
	return string(text), err
}
