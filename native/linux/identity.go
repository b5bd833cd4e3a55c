package linux

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"fulmen/native"
)

// identity says who and what the machine is.
func (t tree) identity() *native.Identity {
	id := &native.Identity{Architecture: t.architecture()}
	t.setNames(id)
	t.setSystem(id)
	t.setModel(id)
	t.setHardwareID(id)
	t.setCores(id)
	chip, why := t.chip()
	native.Put(&id.Chip, &id.Unknown, "chip", chip, why)
	id.Unknown.Add("gpu_cores", native.ReasonNoPlatform.With("Linux does not count them"))
	id.Unknown.Add("gpu_memory", native.ReasonNoPlatform.With("Linux does not say which GPU MLX uses; MLX does"))
	return id
}

// architecture is the kernel's, which counts where the daemon was built for an
// older one; kernels before 6.1 do not have it in /proc.
func (t tree) architecture() string {
	arch, _ := t.text("proc/sys/kernel/arch")
	switch arch {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "":
		return runtime.GOARCH
	}
	return arch
}

// setNames takes the pretty name of machine-info(5) where its owner gave one.
func (t tree) setNames(id *native.Identity) {
	const file = "proc/sys/kernel/hostname"
	host, err := t.text(file)
	id.HostName, _, _ = strings.Cut(host, ".")
	why := native.ReasonSourceMalformed.With("the host name is empty")
	if err != nil {
		why = reason(file, err, native.ReasonNoOS)
	}
	if id.HostName == "" {
		id.Unknown.Add("host_name", why)
	}
	info, _ := t.bytes("etc/machine-info")
	if id.Name = parseShellVariables(info)["PRETTY_HOSTNAME"]; id.Name == "" {
		id.Name = id.HostName
	}
	if id.Name == "" {
		id.Unknown.Add("name", why)
	}
}

func (t tree) setSystem(id *native.Identity) {
	release, err := t.bytes("etc/os-release")
	why := native.ReasonNoOS.With("os-release does not say")
	if err != nil {
		why = reason("os-release", err, native.ReasonNoOS.With("there is no os-release"))
	}
	fields := parseShellVariables(release)
	if id.OSName = fields["NAME"]; id.OSName == "" {
		id.Unknown.Add("os_name", why)
	}
	// A rolling distribution has no version, but may have the date of its image.
	if id.OSVersion = fields["VERSION_ID"]; id.OSVersion == "" {
		id.OSVersion = fields["BUILD_ID"]
	}
	if id.OSVersion == "" {
		id.Unknown.Add("os_version", why)
	}
	t.set(id, "os_build", "proc/sys/kernel/osrelease", &id.OSBuild)
	t.set(id, "boot_id", "proc/sys/kernel/random/boot_id", &id.BootID)

	stat, err := t.bytes("proc/stat")
	times := parseStat(stat)
	switch {
	case err != nil:
		id.Unknown.Add("booted_at", reason("stat", err, native.ReasonNoOS))
	case times.bootedAt <= 0:
		id.Unknown.Add("booted_at", native.ReasonSourceMalformed.With("proc/stat has no btime"))
	default:
		id.BootedAt = native.Stamp(time.Unix(times.bootedAt, 0))
	}
}

// set reads a file of one line into a field.
func (t tree) set(id *native.Identity, field, file string, value *string) {
	text, err := t.text(file)
	switch {
	case err != nil:
		id.Unknown.Add(field, reason(file, err, native.ReasonNoOS))
	case text == "":
		id.Unknown.Add(field, native.ReasonSourceMalformed.With(field+": empty"))
	default:
		*value = text
	}
}

const (
	dmi        = "sys/class/dmi/id/"
	deviceTree = "sys/firmware/devicetree/base/"
)

// fillers are what makers leave in DMI fields that they did not fill in, in
// lower case.
func fillers() []string {
	return []string{
		"", "to be filled by o.e.m.", "default string", "system product name", "system manufacturer", "system version",
		"none", "not specified", "not applicable", "n/a", "invalid", "o.e.m.", "oem", "unknown", "x.x", "0", "1.0",
	}
}

// dmiText reads a DMI field; one that the maker left as it was is absent, with
// its text in the reason.
func (t tree) dmiText(field string) (string, native.Reason) {
	text, err := t.text(dmi + field)
	if err != nil {
		return "", reason(field, err, native.ReasonNoHardware.With("there is neither DMI nor a device tree"))
	}
	if slices.Contains(fillers(), strings.ToLower(text)) {
		return "", native.ReasonSourceMalformed.With(field + ": " + malformedError(text).Error())
	}
	return text, ""
}

// setModel takes the device tree where there is one: it names the board that
// the kernel was written for. A machine without has DMI.
func (t tree) setModel(id *native.Identity) {
	if compatible := t.compatible(); len(compatible) > 0 {
		id.Model = compatible[0]
		id.ModelName, _ = t.text(deviceTree + "model")
		if id.ModelName == "" {
			id.Unknown.Add("model_name", native.ReasonNoOS.With("the device tree has no model"))
		}
		return
	}
	product, why := t.dmiText("product_name")
	if product == "" {
		id.Unknown.Add("model", why)
		id.Unknown.Add("model_name", why)
		return
	}
	id.Model, id.ModelName = product, product
	vendor, _ := t.dmiText("sys_vendor")
	// Lenovo writes a number into the name and the name into the version.
	if strings.EqualFold(vendor, "lenovo") {
		if name, _ := t.dmiText("product_version"); name != "" {
			id.ModelName = name
		}
	}
	if vendor != "" && !strings.HasPrefix(strings.ToLower(id.ModelName), strings.ToLower(vendor)) {
		id.ModelName = vendor + " " + id.ModelName
	}
}

// compatible lists what the device tree says the machine is, the board first
// and its chip last.
func (t tree) compatible() []string {
	text, err := t.text(deviceTree + "compatible")
	if err != nil || text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// setHardwareID takes the UUID that the maker gave the machine, which moves with
// it and not with its disk, and else the installation's own. Which one it is
// stands before it, so that the two are never taken for each other.
func (t tree) setHardwareID(id *native.Identity) {
	if uuid, _ := t.dmiText("product_uuid"); isOwnUUID(uuid) {
		id.HardwareID = "dmi:" + strings.ToLower(uuid)
		return
	}
	machine, err := t.text("etc/machine-id")
	switch {
	case err != nil:
		id.Unknown.Add("hardware_id", reason("machine-id", err, native.ReasonNoOS.With("there is neither product_uuid nor machine-id")))
	case len(machine) != 32 || strings.Trim(machine, "0123456789abcdef") != "":
		// "uninitialized" during the first boot, empty in an image.
		id.Unknown.Add("hardware_id", native.ReasonSourceMalformed.With("machine-id: "+malformedError(machine).Error()))
	default:
		id.HardwareID = "machine-id:" + machine
	}
}

// isOwnUUID reports whether a UUID can be one machine's: it is whole, and
// neither blank nor the one that a firmware's reference design ships with.
func isOwnUUID(uuid string) bool {
	digits := strings.ToLower(strings.ReplaceAll(uuid, "-", ""))
	if len(digits) != 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return false
	}
	return strings.Trim(digits, digits[:1]) != "" && digits != "03000200040005000006000700080009"
}
