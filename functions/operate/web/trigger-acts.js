// What is done with a trigger, from its list and from its page.
import { patch, remove } from "./api.js";
import { go } from "./router.js";
import { ask, toast } from "./ui.js";
import { html } from "./view.js";

/** On or off, with a way back. */
export async function switchTrigger(trigger, then) {
  await patch(["triggers", trigger.id], { enabled: !trigger.enabled });
  toast(trigger.enabled ? "The trigger is off: nothing fires it, and runs that wait end." : "The trigger is on.", {
    undo: async () => {
      await patch(["triggers", trigger.id], { enabled: trigger.enabled });
      then();
    },
  });
  then();
}

export const dropTrigger = (trigger) =>
  ask({
    title: "Delete this trigger?",
    says: html`<p>Nothing fires it any more, and runs that wait end. ${trigger.handler.kind === "webhook" ? "The secret of its endpoint is deleted too, unless another trigger shares the handler. " : ""}Its dead letters can no longer be replayed.</p>
      <p class="mute">This cannot be taken back. To pause it, switch it off.</p>`,
    verb: "Delete the trigger",
    run: async () => {
      await remove(["triggers", trigger.id]);
      toast("The trigger is deleted.");
      go(["triggers"]);
    },
  });
