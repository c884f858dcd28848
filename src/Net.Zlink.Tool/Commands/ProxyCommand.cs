using System.CommandLine;
using System.Globalization;

namespace Net.Zlink.Tool.Commands;

internal static class ProxyCommand
{
    public static Command Create(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var front = new Argument<string>("front") { Description = "The endpoint for those that ask, or publish" };
        var back = new Argument<string>("back") { Description = "The endpoint for those that answer, or subscribe" };
        var publish = new Option<bool>("--publish")
        {
            Description = "Pass on published messages (XSUB and XPUB), not requests (ROUTER and DEALER)",
        };
        var connectFront = new Option<bool>("--connect-front") { Description = "Connect to the front endpoint; else listen at it" };
        var connectBack = new Option<bool>("--connect-back") { Description = "Connect to the back endpoint; else listen at it" };
        return tool.Create("proxy", "Passes messages on between two endpoints, and says at its end how many.",
            """
              zlink proxy tcp://*:5555 tcp://*:5556                                  requests of DEALERs to workers
              zlink proxy --publish --connect-front tcp://feed:5556 tcp://*:5557     one feed for many subscribers
            """,
            [front, back, publish, connectFront, connectBack, options.Timeout, .. options.Tls],
            async run =>
            {
                run.IsServer = true;
                (ZmpSocket first, ZmpSocket second) = run.Get(publish)
                    ? ((ZmpSocket)run.Context.CreateXSub(run.Secured(new XSubOptions())),
                        (ZmpSocket)run.Context.CreateXPub(run.Secured(new XPubOptions())))
                    : (run.Context.CreateRouter(run.Secured(new RouterOptions())),
                        run.Context.CreateDealer(run.Secured(new DealerOptions())));
                var proxy = new SocketProxy(run.Join(first, run.Get(front)!, !run.Get(connectFront)),
                    run.Join(second, run.Get(back)!, !run.Get(connectBack)));
                try
                {
                    await proxy.RunAsync(run.Token).ConfigureAwait(false);
                }
                finally
                {
                    ProxyStatistics passed = proxy.GetStatistics();
                    run.Out.WriteLine(string.Create(CultureInfo.InvariantCulture,
                        $"front to back {passed.BackSent.Messages:N0} messages, back to front {passed.FrontSent.Messages:N0}"));
                }
            });
    }
}
