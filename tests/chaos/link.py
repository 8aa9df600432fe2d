"""An agent whose answer depends on everything before it: a link of a chain. Arguments: its name."""

import hashlib
import json
import sys

name = sys.argv[1]
prompt = sys.stdin.read()
end = prompt.rfind("</workflow_state>")
start = prompt.rfind("<workflow_state>", 0, end) + len("<workflow_state>")
state = json.loads(prompt[start:end])
before = json.dumps([name, state["current_phase"], state["iteration"], state["payload"]], sort_keys=True)
digest = hashlib.blake2b(before.encode(), digest_size=8).hexdigest()
payload = {"chain": digest, "steps": [f"{name} {digest[:4]}"], "most": len(before), "by": {name: digest}}
sys.stdout.write(f"<state_update>{json.dumps({'payload': payload})}</state_update>\n")
