package steps

import (
	"path/filepath"

	"fulmen/daemon/api"
	"fulmen/native/plist"
)

// ImageFolder is the folder that becomes the disk image: the app, and a link to
// /Applications to drag it to.
func ImageFolder(p Paths) string { return filepath.Join(p.Work(), "image") }

// DiskImage gives the commands that make the disk image of ImageFolder.
func DiskImage(p Paths, identity string) []Step {
	steps := []Step{{Why: "make the disk image", Command: []string{
		"hdiutil", "create", "-volname", "Fulmen", "-srcfolder", ImageFolder(p), "-fs", "APFS", "-format", "UDZO", "-ov", p.DiskImage(),
	}}}
	if identity != AdHoc {
		steps = append(steps, Step{Why: "sign it", Command: append(codesign(identity), p.DiskImage())})
	}
	return steps
}

// PackageID is the identifier under which the system remembers the package.
const PackageID = "org.fulmen.pkg"

// PackageRoot is the folder whose content the package puts on a Mac, from its root.
func PackageRoot(p Paths) string { return filepath.Join(p.Work(), "root") }

// Components says of the app in the package that it goes where the package says,
// and not to wherever another copy of it lies.
func Components() ([]byte, error) {
	return plist.Write([]any{map[string]any{
		"RootRelativeBundlePath": "Applications/" + api.BundleName, "BundleIsRelocatable": false,
		"BundleIsVersionChecked": false, "BundleHasStrictIdentifier": true, "BundleOverwriteAction": "upgrade",
	}})
}

// Package gives the commands that make the package of PackageRoot: root's, with
// the daemon's job beside the app, for Macs on which nobody clicks. An empty
// identity leaves it unsigned.
func Package(p Paths, identity string) []Step {
	component := filepath.Join(p.Work(), "component.pkg")
	product := []string{"productbuild", "--distribution", filepath.Join(p.Work(), "distribution.xml"), "--package-path", p.Work()}
	if identity != "" {
		product = append(product, "--sign", identity, "--timestamp")
	}
	return []Step{
		{Why: "pack what is installed", Command: []string{
			"pkgbuild", "--root", PackageRoot(p), "--component-plist", filepath.Join(p.Work(), "components.plist"),
			"--identifier", PackageID, "--version", p.Version, "--scripts", filepath.Join(p.Root, "assets/pkg/scripts"),
			"--ownership", "recommended", "--install-location", "/", component,
		}},
		{Why: "make the installer", Command: append(product, p.Package())},
	}
}
