using System.CommandLine;

namespace Net.Zlink.Tool.Commands;

internal static class RequestCommands
{
    public static Command Req(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        return tool.Create("req", "Sends a message, waits for the reply and prints it (socket type DEALER; talks to ROUTER).",
            """
              zlink req tcp://127.0.0.1:5555 hello                   one request
              zlink req tcp://127.0.0.1:5555 hello -n 100 -r 10      a hundred, ten a second at most
              zlink req tcp://127.0.0.1:5555 hello -t 1 || echo "no reply within a second"
            """,
            [
                options.Endpoint, options.Parts, options.Bind, options.Count, options.Rate, options.Timeout, options.Format, .. options.Tls,
            ],
            async run =>
            {
                DealerSocket socket = run.Join(run.Context.CreateDealer(run.Secured(new DealerOptions())));
                using var request = new MessageBuilder(run.Context.Pool);
                await foreach (byte[][] parts in run.MessagesAsync(run.Token).ConfigureAwait(false))
                {
                    await socket.SendAsync(request.AddAll(parts), run.Token).ConfigureAwait(false);
                    using Message reply = await socket.ReceiveAsync(run.Token).ConfigureAwait(false);
                    run.Print(reply);
                }
            });
    }

    public static Command Reply(ZlinkTool tool)
    {
        ToolOptions options = tool.Options;
        var parts = new Argument<string[]>("part")
        {
            Description = "The parts of each reply. Without them a reply is the request",
            Arity = ArgumentArity.ZeroOrMore,
        };
        return tool.Create("reply", "Prints requests and answers each of them (socket type ROUTER; talks to DEALER).",
            """
              zlink reply --bind tcp://*:5555              sends back what it gets
              zlink reply --bind tcp://*:5555 ok           answers ok
            """,
            [options.Endpoint, parts, options.Bind, options.Count, options.Timeout, options.Format, .. options.Tls],
            async run =>
            {
                byte[][] answer = [.. run.Get(parts)!.Select(part => MessageText.ReadPart(run.Format, part))];
                RouterSocket socket = run.Join(run.Context.CreateRouter(run.Secured(new RouterOptions())));
                using var reply = new MessageBuilder(run.Context.Pool);
                while (!run.IsComplete)
                {
                    using Message request = await socket.ReceiveAsync(run.Token).ConfigureAwait(false);
                    reply.AddAll(answer.Length > 0 ? answer : request.ToArrays());
                    // By its id: one that has left, or does not read, gets no answer and holds back nobody.
                    await socket.To(request.RoutingId).SendAsync(reply, run.Token).ConfigureAwait(false);
                    run.Print(request, $"{request.RoutingId}");
                }
            });
    }
}
