// Search runs in a web worker, which browsers refuse to pages opened from a folder. There, run it in a hidden frame:
// the frame shares this page's origin, so events can be handed over directly.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = this.load(new URL(url, location.href).href);
      this.inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(each)));
    }

    load(url) {
      const script = this.inside.document.createElement("script");
      script.src = url;
      const done = new Promise((resolve, reject) => {
        script.onload = resolve;
        script.onerror = reject;
      });
      this.inside.document.body.append(script);
      return done;
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  }
  window.IFrameWorker = window.Worker = IFrameWorker;
}
