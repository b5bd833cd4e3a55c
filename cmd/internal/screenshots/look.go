//go:build linux

package main

import (
	"os"
	"path/filepath"
)

// look writes how the panel and its menus look: quiet, as a Mac's.
func look(home string) error {
	for path, text := range map[string]string{
		".config/gtk-3.0/gtk.css":                                  style,
		".config/gtk-3.0/settings.ini":                             "[Settings]\ngtk-font-name=Inter 10\ngtk-icon-theme-name=Adwaita\ngtk-enable-animations=0\n",
		".config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml": panel,
		"picom.conf": shadows,
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

const style = `
* { font-family: Inter; font-size: 13px; }
.xfce4-panel { background-color: rgba(255, 255, 255, 0.55); border: none; }
.xfce4-panel widget, .xfce4-panel box, .xfce4-panel button { background-color: transparent; background-image: none; color: #1d1d1f; box-shadow: none; border: none; }
.xfce4-panel button { padding: 0 7px; border-radius: 5px; }
.xfce4-panel button:checked, .xfce4-panel button:active, .xfce4-panel button:hover { background-color: rgba(0, 0, 0, 0.09); }
.xfce4-panel menu, menu { background-color: #f6f6f8; color: #1d1d1f; padding: 5px; border-radius: 9px; border: 1px solid rgba(0, 0, 0, 0.14); }
.xfce4-panel menu menuitem, menuitem { padding: 3px 9px; border-radius: 5px; min-height: 17px; background-color: transparent; }
.xfce4-panel menu menuitem:hover, menuitem:hover { background-color: #0a6cff; }
menuitem label { color: #1d1d1f; }
menuitem:hover > label, menuitem:hover > box > label, menuitem:hover > arrow, menuitem:hover > check { color: #ffffff; }
menuitem:disabled > label, menuitem:disabled > box > label { color: #86868b; }
menuitem arrow { color: #86868b; min-width: 11px; min-height: 11px; }
menuitem check { min-width: 13px; min-height: 13px; border: none; background: none; box-shadow: none; color: transparent; }
menuitem check:checked { color: #1d1d1f; }
.xfce4-panel menu separator, menu separator { background-color: rgba(0, 0, 0, 0.11); margin: 5px 10px; min-height: 1px; }
`

const shadows = `backend = "xrender";
shadow = true;
shadow-radius = 26;
shadow-opacity = 0.32;
shadow-offset-x = -26;
shadow-offset-y = -18;
shadow-exclude = [ "class_g = 'Xfce4-panel' && window_type = 'dock'" ];
fading = false;
`

const panel = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="28"/>
      <property name="icon-size" type="uint" value="18"/>
      <property name="background-style" type="uint" value="1"/>
      <property name="background-rgba" type="array">
        <value type="double" value="1"/><value type="double" value="1"/><value type="double" value="1"/><value type="double" value="0.55"/>
      </property>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/><value type="int" value="2"/><value type="int" value="3"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="separator">
      <property name="expand" type="bool" value="true"/>
      <property name="style" type="uint" value="0"/>
    </property>
    <property name="plugin-2" type="string" value="systray">
      <property name="icon-size" type="int" value="18"/>
      <property name="square-icons" type="bool" value="false"/>
    </property>
    <property name="plugin-3" type="string" value="clock">
      <property name="digital-layout" type="uint" value="3"/>
      <property name="digital-time-format" type="string" value="Sat 21 Nov  9:41"/>
      <property name="digital-time-font" type="string" value="Inter 10"/>
    </property>
  </property>
</channel>
`
