package linux

import (
	"bytes"
	"strconv"
	"strings"

	"fulmen/native"
)

// cpuInfo is what /proc/cpuinfo says of the processors.
type cpuInfo struct {
	model string    // the first "model name"; arm64 kernels give none
	parts []armPart // kinds of core of an Arm chip, each once, in order
}

// armPart is the implementer and part number of an Arm core, from its MIDR.
type armPart struct{ implementer, part uint64 }

// parseCPUInfo reads /proc/cpuinfo: blocks of "key : value", one a processor.
func parseCPUInfo(data []byte) cpuInfo {
	var info cpuInfo
	var part armPart
	seen := map[armPart]bool{}
	for line := range bytes.Lines(data) {
		key, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "model name":
			if info.model == "" {
				info.model = strings.ToValidUTF8(strings.Join(strings.Fields(value), " "), "\uFFFD")
			}
		case "CPU implementer":
			part.implementer, _ = strconv.ParseUint(value, 0, 64)
		case "CPU part":
			number, err := strconv.ParseUint(value, 0, 64)
			if part.part = number; err == nil && !seen[part] {
				seen[part] = true
				info.parts = append(info.parts, part)
			}
		}
	}
	return info
}

// armCores names Arm's own cores by part number, as their reference manuals
// give it (MIDR_EL1, implementer 0x41).
func armCores() map[uint64]string {
	return map[uint64]string{
		0xd03: "Cortex-A53", 0xd04: "Cortex-A35", 0xd05: "Cortex-A55", 0xd07: "Cortex-A57", 0xd08: "Cortex-A72", 0xd09: "Cortex-A73",
		0xd0a: "Cortex-A75", 0xd0b: "Cortex-A76", 0xd0c: "Neoverse-N1", 0xd0d: "Cortex-A77", 0xd40: "Neoverse-V1", 0xd41: "Cortex-A78",
		0xd44: "Cortex-X1", 0xd46: "Cortex-A510", 0xd47: "Cortex-A710", 0xd48: "Cortex-X2", 0xd49: "Neoverse-N2", 0xd4d: "Cortex-A715",
		0xd4e: "Cortex-X3", 0xd4f: "Neoverse-V2", 0xd80: "Cortex-A520", 0xd81: "Cortex-A720", 0xd82: "Cortex-X4",
	}
}

// name is the core's, or its numbers where only those are known.
func (p armPart) name() string {
	const arm = 0x41
	if name := armCores()[p.part]; p.implementer == arm && name != "" {
		return name
	}
	return "implementer 0x" + strconv.FormatUint(p.implementer, 16) + " part 0x" + strconv.FormatUint(p.part, 16)
}

// chip is the processor's name: what the kernel calls it, else the chip that the
// device tree names, else the kinds of its cores.
func (t tree) chip() (string, native.Reason) {
	data, err := t.bytes("proc/cpuinfo")
	if err != nil {
		return "", reason("cpuinfo", err, native.ReasonNoOS)
	}
	info := parseCPUInfo(data)
	if info.model != "" {
		return info.model, ""
	}
	if compatible := t.compatible(); len(compatible) > 1 {
		return compatible[len(compatible)-1], ""
	}
	names := make([]string, len(info.parts))
	for i, p := range info.parts {
		names[i] = p.name()
	}
	if len(names) == 0 {
		return "", native.ReasonNoOS.With("cpuinfo names no model")
	}
	return strings.Join(names, " + "), ""
}
