"""What tests of reports share: an arm, formats, orders, and the table of states."""

import csv

ARM = """<robot name="arm">
 <link name="base"/>
 {links}
 <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/><limit lower="-0.5" upper="1.5" velocity="0.25" effort="10"/></joint>
 <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
  <origin xyz="0.3 0 0"/><axis xyz="0 1 0"/><limit lower="0" upper="0" velocity="0"/></joint>
 <joint name="slide" type="prismatic"><parent link="lower"/><child link="tip"/>
  <origin xyz="0.2 0 0" rpy="0.1 0.2 0.3"/><axis xyz="1 0 0"/>
  <limit lower="0.01" upper="0.03" velocity="1e16"/></joint>
 <joint name="wrist" type="continuous"><parent link="tip"/><child link="hand"/>
  <origin xyz="0.1 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" velocity="3"/></joint>
</robot>"""
LINK = """<link name="{}"><inertial><origin xyz="0.1 0.01 0.02"/><mass value="{}"/>
 <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
FORMATS = ("float64", "float32", "bfloat16")
ORDERS = ("abm", "crbm")


def table(folder):
    with open(folder / "states.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))
