//go:build cgo && (darwin || darwinsim)

#include "registrykinds.h"

// The keys are read one by one. Reading all properties at once has aborted
// processes on a malformed blob inside IOKit (reported of another project).
const fulmen_kind fulmen_thunderbolt_kinds[] = {
	// The controller itself has no handle of the device tree; the node that it
	// hangs from, some levels up, has.
	{"IOThunderboltController", {"^AAPL,phandle", NULL}},
	{"IOThunderboltLocalNode", {"Domain UUID", NULL}},
	{"IOThunderboltPort",
		{"Adapter Type", "Description", "Port Number", "Lane", "Dual-Link Port", "Socket ID", "Current Link Speed",
			"Current Link Width", "Supported Link Speed", "Thunderbolt Version", NULL}},
	{"IOThunderboltSwitch",
		{"Depth", "Route String", "Device Vendor Name", "Device Model Name", "Thunderbolt Version", "Supported Link Speed", NULL}},
	{"IOThunderboltXDomainLink", {"Domain UUID", "Device Name", "Vendor Name", NULL}},
	{"IOThunderboltXDomainService", {"Protocol ID", "Protocol Version", NULL}},
	{"AppleThunderboltIPPort", {"IOLocation", "IOLinkStatus", NULL}},
	{"IOEthernetInterface", {"BSD Name", NULL}},
	{"AppleThunderboltRDMAInterface", {"IOPowerManagement", "node_guid", NULL}},
	{"AppleThunderboltRDMAPeerInterface", {NULL}},
	{"IORDMAFamilyUC", {"IOUserClientCreator", NULL}},
	{NULL, {"BSD Name", NULL}}, // of an interface of another class
};
