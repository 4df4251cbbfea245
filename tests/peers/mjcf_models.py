"""Small MJCF models of the kind that people write, each with something of its own."""

LINK = '<geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.4"/>'

INSIDE = {
    "pendulum": f'<worldbody><body><joint axis="0 1 0"/>{LINK}</body></worldbody>',
    "double pendulum with damping": f"""<default><joint axis="0 1 0" damping="0.2"/></default>
      <worldbody><body><joint/>{LINK}<body pos="0 0 -0.4"><joint/>{LINK}</body></body>
      </worldbody>""",
    "cart and pole": f"""<worldbody><body name="cart"><joint name="x" type="slide" axis="1 0 0"
      damping="1"/><geom type="box" size="0.2 0.1 0.1"/><body><joint name="pole" axis="0 1 0"
      armature="0.02"/>{LINK}</body></body></worldbody>""",
    "gantry of three slides in one body": f"""<worldbody><body><joint name="x" type="slide"
      axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><joint name="z" type="slide"
      axis="0 0 1" stiffness="30" springref="0.2"/>{LINK}</body></worldbody>""",
    "planar hopper": f"""<worldbody><body name="torso" pos="0 0 1.2"><joint name="rootx"
      type="slide" axis="1 0 0"/><joint name="rootz" type="slide" axis="0 0 1" ref="1.2"/><joint
      name="rooty" axis="0 1 0"/>{LINK}<body pos="0 0 -0.4"><joint axis="0 -1 0" range="-150 0"
      armature="1"/>{LINK}<body pos="0 0 -0.4"><joint axis="0 -1 0" pos="0 0 0.02"/><geom
      type="capsule" size="0.06" fromto="-0.1 0 0 0.2 0 0"/></body></body></body></worldbody>""",
    "free box": '<worldbody><body pos="0 1 2" euler="30 40 50"><freejoint/><geom type="box" '
    'size="0.1 0.2 0.3" pos="0.1 0.2 0"/></body></worldbody>',
    "two free bodies": '<worldbody><body><freejoint/><geom size="0.1"/></body><body pos="1 0 0">'
    '<joint type="free" damping="0.1"/><geom type="cylinder" size="0.1 0.3"/></body></worldbody>',
    "quadrotor": """<worldbody><body pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.02"/>
      <body pos="0.1 0.1 0"><joint armature="1e-4"/><geom type="cylinder" size="0.05 0.005"/></body>
      <body pos="-0.1 -0.1 0"><joint/><geom type="cylinder" size="0.05 0.005"/></body></body>
      </worldbody>""",
    "humanoid's arm of balls": f"""<worldbody><body><joint name="shoulder" type="ball"/>{LINK}
      <body pos="0 0 -0.4"><joint axis="1 0 0" range="0 160"/>{LINK}<body pos="0 0 -0.4"><joint
      type="ball" damping="0.1" armature="0.01"/>{LINK}</body></body></body></worldbody>""",
    "ball beside its body": f'<worldbody><body pos="0.3 0 0" euler="10 0 0"><joint type="ball" '
    f'pos="0 0.1 0.2"/>{LINK}</body></worldbody>',
    "slide after a ball": f"""<worldbody><body><joint type="slide" name="a" axis="1 1 0"/><joint
      name="b" type="ball" pos="0.1 0 0"/>{LINK}</body></worldbody>""",
    "hips of three hinges": f"""<worldbody><body name="pelvis"><freejoint/><geom size="0.15"/><body
      pos="0 0.1 0"><joint name="hip x" axis="1 0 0" armature="0.01"/><joint name="hip z"
      axis="0 0 1" damping="5" stiffness="10"/><joint name="hip y" axis="0 1 0" stiffness="20"
      springref="-20"/>{LINK}<body pos="0 0.01 -0.4"><joint name="knee" pos="0 0 0.02"
      axis="0 -1 0" range="-160 -2"/>{LINK}</body></body></body></worldbody>""",
    "inertial given": """<worldbody><body><joint axis="0 0 1"/><inertial pos="0.1 0.2 0.3"
      euler="20 0 30" mass="2" diaginertia="0.2 0.3 0.4"/></body></worldbody>""",
    "full inertia": """<worldbody><body><joint axis="1 0 1"/><inertial pos="0 0 0.1" mass="1.5"
      fullinertia="0.3 0.25 0.2 0.02 0.01 0.03"/></body></worldbody>""",
    "inertia from several geoms": """<worldbody><body><joint axis="0 1 0"/><geom size="0.1"
      density="500"/><geom type="box" pos="0.3 0 0" euler="0 45 0" size="0.1 0.2 0.05" mass="3"/>
      <geom type="ellipsoid" pos="0 0.2 0" size="0.1 0.2 0.3"/></body></worldbody>""",
    "radians and another sequence of angles": """<compiler angle="radian" eulerseq="ZYX"/>
      <worldbody><body euler="0.1 0.2 0.3"><joint axis="0 1 1" ref="0.5"/><geom type="box"
      euler="1 0 0.5" size="0.1 0.2 0.3" pos="0.1 0 0"/></body></worldbody>""",
    "classes of defaults": f"""<default><joint damping="1"/><default class="arm"><joint axis="0 1 0"
      armature="0.3"/><default class="wrist"><joint axis="1 0 0" damping="0.1"/></default></default>
      </default><worldbody><body childclass="arm"><joint/>{LINK}<body pos="0 0 -0.4"><joint/>{LINK}
      <body pos="0 0 -0.4"><joint class="wrist"/>{LINK}</body></body></body></worldbody>""",
    "frames": f"""<worldbody><frame pos="0.1 0.2 0.3" euler="0 30 0"><body><joint axis="0 1 0"/>
      {LINK}<frame pos="0 0 -0.4" euler="40 0 0"><geom size="0.05" pos="0 0.1 0"/><body><joint
      axis="1 0 0"/>{LINK}</body></frame></body></frame></worldbody>""",
    "copies by replicate": f"""<worldbody><body name="hub"><joint axis="0 0 1"/><geom size="0.1"/>
      <replicate count="3" euler="0 0 120"><body pos="0.1 0 0"><joint axis="0 1 0"/>{LINK}</body>
      </replicate></body></worldbody>""",
    "bodies that nothing moves": f"""<worldbody><body name="table" pos="1 0 0.5" euler="0 0 30">
      <geom type="box" size="1 1 0.1"/><body name="mount" pos="0 0 0.1" euler="20 0 0"><geom
      size="0.1"/><body pos="0 0 0.1"><joint axis="0 1 0"/>{LINK}</body></body></body>
      </worldbody>""",
    "a tool welded to a link": f"""<worldbody><body><joint axis="0 1 0"/>{LINK}<body pos="0 0 -0.4"
      euler="0 20 30"><geom type="box" size="0.1 0.05 0.02"/><body pos="0.1 0 0"><joint
      type="slide" axis="1 0 0"/><geom size="0.03"/></body></body></body></worldbody>""",
    "hand of three fingers": f"""<worldbody><body><joint type="slide" axis="0 0 1"/><geom type="box"
      size="0.1 0.1 0.03"/><body pos="0.1 0 0"><joint axis="0 1 0"/>{LINK}<body pos="0 0 -0.4">
      <joint axis="0 1 0"/>{LINK}</body></body><body pos="-0.1 0 0"><joint axis="0 1 0"/>{LINK}
      </body><body pos="0 0.1 0"><joint axis="1 0 0"/>{LINK}</body></body></worldbody>""",
    "on a slope, gravity aside": f"""<option gravity="1 -2 -9"/><worldbody><body euler="0 20 0">
      <joint type="slide" axis="1 0 0"/>{LINK}</body></worldbody>""",
    "springs about references": f"""<worldbody><body><joint axis="0 1 0" stiffness="8" ref="25"
      springref="-10"/>{LINK}<body pos="0 0 -0.4"><joint type="slide" axis="0 0 1" ref="0.1"
      springref="0.3" stiffness="50" armature="0.5"/>{LINK}</body></body></worldbody>""",
    "no gravity": f"""<option><flag gravity="disable"/></option><worldbody><body><joint
      axis="0 1 0" stiffness="3" damping="1"/>{LINK}</body></worldbody>""",
    "springs and dampers switched off": f"""<option><flag spring="disable" damper="disable"/>
      </option><worldbody><body><joint axis="0 1 0" stiffness="3" damping="1"/>{LINK}<body
      pos="0 0 -0.4"><joint type="ball" damping="1"/>{LINK}</body></body></worldbody>""",
    "rotors of actuators": f"""<worldbody><body><joint name="a" axis="0 1 0" armature="0.1"/>{LINK}
      <body pos="0 0 -0.4"><joint name="b" type="slide" axis="0 0 1"/>{LINK}</body></body>
      </worldbody><actuator><motor joint="a" armature="0.02" gear="5"/><motor joint="b"
      armature="0.7"/><motor joint="a" armature="0.03"/></actuator>""",
    "rotors on a free arm": f"""<worldbody><body><freejoint align="false"/><geom type="box"
      size="0.2 0.1 0.1" pos="0.1 0 0"/><body pos="0.2 0 0"><joint axis="0 1 0" armature="2"
      damping="3"/>{LINK}<body pos="0 0 -0.4"><joint axis="1 0 0" armature="0.5"/>{LINK}</body>
      </body></body></worldbody>""",
}
MODELS = {name: f'<mujoco model="{name}">{text}</mujoco>' for name, text in INSIDE.items()}
