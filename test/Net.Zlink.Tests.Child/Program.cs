using System.Globalization;
using Net.Zlink;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Child;

if (args is ["receiver"])
{
    return await ReceiverProcess.RunAsync();
}

if (args is ["diagnostics"])
{
    return await DiagnosticsProcess.RunAsync();
}

if (args.Length > 0)
{
    return args is ["small", var type, var size, var count] ? await SmallProcess.RunAsync(int.Parse(size, CultureInfo.InvariantCulture),
            int.Parse(count, CultureInfo.InvariantCulture), isStream: type is "STREAM")
        : args is ["handshake", var scheme] ? await HandshakeProcess.RunAsync(scheme)
        : args is ["serve", var interval, var timeout, .. var endpoints] ? await CountingProcess.ServeAsync(
            int.Parse(interval, CultureInfo.InvariantCulture), int.Parse(timeout, CultureInfo.InvariantCulture), endpoints)
        : args is ["send", var sender, var endpoint, var id] ? await CountingProcess.SendAsync(sender is "PAIR", endpoint, id)
        : await IdleProcess.RunAsync(args);
}

// An echo server that talks to its test in lines: READY <endpoint>, then ACCEPT_FAILED <errno> whenever an accept fails. It ends when its
// input does.
await using var context = new ZlinkContext();
StreamSocket socket = context.CreateStream();
IAsyncEnumerable<SocketEvent> events = socket.MonitorAsync(SocketEventTypes.AcceptFailed | SocketEventTypes.Closed);
Console.WriteLine($"READY {socket.Bind("tcp://127.0.0.1:0", new EchoHandler())}");
Task reporting = ReportAsync(events);
await Console.In.ReadToEndAsync();
socket.Dispose();
await reporting;
Console.WriteLine($"DONE {socket.GetStatistics().AcceptErrors}");
return 0;

static async Task ReportAsync(IAsyncEnumerable<SocketEvent> events)
{
    await foreach (SocketEvent one in events)
    {
        Console.WriteLine(one.Type == SocketEventTypes.AcceptFailed ? $"ACCEPT_FAILED {one.Value} {one.Detail}" : $"CLOSED {one.Detail}");
    }
}
