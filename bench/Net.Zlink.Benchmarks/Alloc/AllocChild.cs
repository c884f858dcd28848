using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Net.Zlink.Buffers;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>The measured process's side: commands that <see cref="AllocCommand"/> starts this program with; not for people.</summary>
internal static class AllocChild
{
    public const string ServerCommand = "alloc-server";
    public const string ClientCommand = "alloc-client";
    public const string SocketsCommand = "alloc-sockets";
    public const string FanoutCommand = "alloc-fanout";
    public const string ServicesCommand = "alloc-services";
    public const string SpotCommand = "alloc-spot";
    public const string MarkRequest = "mark";
    public const string MarkReply = "MARK ";
    public const string SecondsReply = "SECONDS ";
    public const string Ready = "READY ";

    // So few that with windows of 256 KB in flight most answers have to wait for room.
    private const int TinyHighWaterMark = 4;

    public static Command CreateServer()
    {
        Option<string> mode = ModeOption();
        var port = new Option<int>("--port") { Description = "Where to listen, so that 'profile' can start the measured server as it is." };
        var command = new Command(ServerCommand, "The measured server of 'alloc'.") { Hidden = true };
        Option<string> pool = AllocPools.CreateOption();
        command.Add(mode);
        command.Add(port);
        command.Add(pool);
        command.SetAction((request, cancellation) =>
            ServeAsync(request.GetValue(mode)!, request.GetValue(port), request.GetValue(pool)!, cancellation));
        return command;
    }

    public static Command CreateClient()
    {
        Option<string> mode = ModeOption();
        var endpoint = new Option<string>("--endpoint") { Required = true };
        var inFlight = new Option<int>("--in-flight") { Required = true };
        var size = new Option<int>("--size") { Required = true };
        var warmUp = new Option<int>("--warm-up") { Required = true };
        var messages = new Option<int>("--messages") { Required = true };
        var command = new Command(ClientCommand, "The measured client of 'alloc'.") { Hidden = true };
        Option<string> pool = AllocPools.CreateOption();
        command.Add(pool);
        command.Add(mode);
        command.Add(endpoint);
        command.Add(inFlight);
        command.Add(size);
        command.Add(warmUp);
        command.Add(messages);
        command.SetAction(async (request, cancellation) =>
        {
            await using var client = new MeasuredClient(
                AllocPools.CreateContext(request.GetValue(pool)!), request.GetValue(mode)!, request.GetValue(inFlight),
                request.GetValue(size));
            await client.ConnectAsync(request.GetValue(endpoint)!, cancellation);
            await client.RunAsync(request.GetValue(warmUp), cancellation);
            AllocMark before = client.Mark();
            await client.RunAsync(request.GetValue(messages), cancellation);
            Print(client.Mark().Since(before));
            return 0;
        });
        return command;
    }

    public static Command CreateSockets()
    {
        var pattern = new Option<string>("--pattern") { Required = true };
        pattern.AcceptOnlyFromAmong(ZmpAllocCase.Patterns);
        var transport = new Option<string>("--transport") { Required = true };
        transport.AcceptOnlyFromAmong(ZmpAllocCase.Transports);
        var mode = new Option<string>("--mode") { Required = true };
        mode.AcceptOnlyFromAmong(ZmpModes.All);
        var size = new Option<int>("--size") { Required = true };
        var mark = new Option<int>("--hwm") { Required = true };
        var warmUp = new Option<int>("--warm-up") { Required = true };
        var messages = new Option<int>("--messages") { Required = true };
        Option<string> pool = AllocPools.CreateOption();
        var command = new Command(SocketsCommand, "The measured sockets of 'alloc'.") { Hidden = true };
        foreach (Option option in new Option[] { pattern, transport, mode, size, mark, warmUp, messages, pool })
        {
            command.Add(option);
        }

        command.SetAction(async (request, cancellation) =>
        {
            var what = new ZmpAllocCase(request.GetValue(pattern)!, request.GetValue(transport)!, request.GetValue(mode)!,
                request.GetValue(size));
            bool waits = ZmpModes.IsSlow(what.Mode);
            await using var loop = new ZmpAllocLoop(AllocPools.CreateContext(request.GetValue(pool)!), what, waits ? TinyHighWaterMark
                : request.GetValue(mark));
            return await MeasureAsync(loop, request.GetValue(warmUp), request.GetValue(messages), cancellation);
        });
        return command;
    }

    public static Command CreateFanout()
    {
        var sender = new Option<string>("--sender") { Required = true };
        sender.AcceptOnlyFromAmong(FanoutAllocCase.Senders);
        var transport = new Option<string>("--transport") { Required = true };
        transport.AcceptOnlyFromAmong(FanoutAllocCase.Transports);
        var size = new Option<int>("--size") { Required = true };
        var mark = new Option<int>("--hwm") { Required = true };
        var warmUp = new Option<int>("--warm-up") { Required = true };
        var messages = new Option<int>("--messages") { Required = true };
        Option<string> pool = AllocPools.CreateOption();
        var command = new Command(FanoutCommand, "The measured sockets of 'alloc', one of which sends to the others.") { Hidden = true };
        foreach (Option option in new Option[] { sender, transport, size, mark, warmUp, messages, pool })
        {
            command.Add(option);
        }

        command.SetAction(async (request, cancellation) =>
        {
            var what = new FanoutAllocCase(request.GetValue(sender)!, request.GetValue(transport)!, request.GetValue(size));
            await using var loop = new FanoutAllocLoop(AllocPools.CreateContext(request.GetValue(pool)!), what, request.GetValue(mark));
            return await MeasureAsync(loop, request.GetValue(warmUp), request.GetValue(messages), cancellation);
        });
        return command;
    }

    public static Command CreateServices()
    {
        var mode = new Option<string>("--mode") { Required = true };
        mode.AcceptOnlyFromAmong(ServiceAllocCase.Modes);
        var size = new Option<int>("--size") { Required = true };
        var mark = new Option<int>("--hwm") { Required = true };
        var warmUp = new Option<int>("--warm-up") { Required = true };
        var messages = new Option<int>("--messages") { Required = true };
        Option<string> pool = AllocPools.CreateOption();
        var command = new Command(ServicesCommand, "The measured gateway of 'alloc'.") { Hidden = true };
        foreach (Option option in new Option[] { mode, size, mark, warmUp, messages, pool })
        {
            command.Add(option);
        }

        command.SetAction(async (request, cancellation) =>
        {
            var what = new ServiceAllocCase(request.GetValue(mode)!, request.GetValue(size));
            bool waits = string.Equals(what.Mode, ServiceAllocCase.SendWaits, StringComparison.Ordinal);
            await using var loop = new ServiceAllocLoop(
                AllocPools.CreateContext(request.GetValue(pool)!), what, waits ? TinyHighWaterMark : request.GetValue(mark));
            return await MeasureAsync(loop, request.GetValue(warmUp), request.GetValue(messages), cancellation);
        });
        return command;
    }

    public static Command CreateSpot()
    {
        var mode = new Option<string>("--mode") { Required = true };
        mode.AcceptOnlyFromAmong(SpotAllocCase.Modes);
        var size = new Option<int>("--size") { Required = true };
        var mark = new Option<int>("--hwm") { Required = true };
        var warmUp = new Option<int>("--warm-up") { Required = true };
        var messages = new Option<int>("--messages") { Required = true };
        Option<string> pool = AllocPools.CreateOption();
        var command = new Command(SpotCommand, "The measured SPOT nodes of 'alloc'.") { Hidden = true };
        foreach (Option option in new Option[] { mode, size, mark, warmUp, messages, pool })
        {
            command.Add(option);
        }

        command.SetAction(async (request, cancellation) =>
        {
            var what = new SpotAllocCase(request.GetValue(mode)!, request.GetValue(size));
            await using var loop = new SpotAllocLoop(AllocPools.CreateContext(request.GetValue(pool)!), what, request.GetValue(mark));
            return await MeasureAsync(loop, request.GetValue(warmUp), request.GetValue(messages), cancellation);
        });
        return command;
    }

    private static async Task<int> MeasureAsync(IAllocLoop loop, int warmUp, int messages, CancellationToken cancellation)
    {
        await loop.RunAsync(warmUp).WaitAsync(cancellation);

        // The first mark of a process is its dearest: that is not the messages' cost.
        loop.Mark();
        AllocMark before = loop.Mark();
        long start = Stopwatch.GetTimestamp();
        await loop.RunAsync(messages).WaitAsync(cancellation);
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        AllocMark used = loop.Mark().Since(before);
        Console.WriteLine(SecondsReply + seconds.ToString(CultureInfo.InvariantCulture));
        Print(used);
        return 0;
    }

    private static async Task<int> ServeAsync(string mode, int port, string pool, CancellationToken cancellation)
    {
        await using ZlinkContext context = AllocPools.CreateContext(pool);
        await using StreamSocket socket = context.CreateStream(
            new StreamOptions { AllowSynchronousContinuations = string.Equals(mode, EchoModes.PullHere, StringComparison.Ordinal) });
        if (EchoModes.IsSlow(mode))
        {
            socket.Options.SendHighWaterMark = TinyHighWaterMark;
        }

        var counts = new EchoCounts();
        bool push = EchoModes.IsPush(mode);
        string at = string.Create(CultureInfo.InvariantCulture, $"tcp://127.0.0.1:{port}");
        string endpoint = push ? socket.Bind(at, new EchoHandler(
            counts, passesOn: string.Equals(mode, EchoModes.PushOn, StringComparison.Ordinal))) : socket.Bind(at);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task loop = push ? Task.CompletedTask : new EchoLoop(socket, counts).RunAsync(mode, stop.Token);
        Console.WriteLine(Ready + endpoint);

        // A thread of its own: a read of standard input blocks, and the pool's threads belong to the server.
        await Task.Factory.StartNew(() => AnswerMarks(counts, context.Pool), CancellationToken.None, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        await stop.CancelAsync();
        await loop;
        return 0;
    }

    private static void AnswerMarks(EchoCounts counts, BufferPool pool)
    {
        while (Console.In.ReadLine() is { } line)
        {
            if (string.Equals(line, MarkRequest, StringComparison.Ordinal))
            {
                Print(AllocMark.Now(counts, pool));
            }
        }
    }

    private static void Print(AllocMark mark) => Console.WriteLine(MarkReply + JsonSerializer.Serialize(mark));

    private static Option<string> ModeOption()
    {
        var mode = new Option<string>("--mode") { Required = true };
        mode.AcceptOnlyFromAmong(EchoModes.All);
        return mode;
    }
}
