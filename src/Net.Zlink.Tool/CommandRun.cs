using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Tool;

/// <summary>One run of a command: its context, its limits, and how it reads and writes messages.</summary>
internal sealed class CommandRun : IAsyncDisposable
{
    private readonly ZlinkTool _tool;
    private readonly ParseResult _given;
    private readonly TextReader _input;
    private readonly CancellationTokenSource _end;
    private readonly TimeSpan? _limit;
    private readonly long _started = Stopwatch.GetTimestamp();
    private ZmpSocket? _socket;
    private bool _isDelivering;
    private long _printed;

    public CommandRun(
        ZlinkTool tool, ParseResult given, TextReader input, TextWriter output, TimeSpan? limit, CancellationToken cancellation)
    {
        _tool = tool;
        _given = given;
        _input = input;
        Out = output;
        Format = Get(Options.Format);
        _end = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        _limit = Get(Options.Timeout) is { } seconds ? TimeSpan.FromSeconds(seconds) : limit;
        if (_limit is { } time)
        {
            _end.CancelAfter(time);
        }
    }

    public ZlinkContext Context { get; } = new();

    public TextWriter Out { get; }

    public MessageFormat Format { get; }

    /// <summary>Ends with the time limit, with Ctrl-C, and with an endpoint that is given up.</summary>
    public CancellationToken Token => _end.Token;

    /// <summary>Why <see cref="Token"/> ended, if not by time or Ctrl-C.</summary>
    public string? Failure { get; private set; }

    /// <summary>How long the command may take.</summary>
    public TimeSpan Limit => _limit ?? Timeout.InfiniteTimeSpan;

    /// <summary>What the user reads when the time is over.</summary>
    public string? WhyNoAnswer { get; set; }

    public string Endpoint => Get(Options.Endpoint)!;

    /// <summary>The command runs until it is ended: the end of the time is no failure.</summary>
    public bool IsServer { get; set; }

    public bool IsComplete => _printed >= (Get(Options.Count) ?? long.MaxValue);

    private ToolOptions Options => _tool.Options;

    public T? Get<T>(Argument<T> argument) => _given.GetValue(argument);

    /// <summary>An option's value; its default if the command does not have the option.</summary>
    public T? Get<T>(Option<T> option) => _given.CommandResult.Command.Options.Contains(option) ? _given.GetValue(option) : default;

    public void Report(string sentence) => _tool.Report(sentence);

    /// <summary>The options of a socket, with the certificates that the user named.</summary>
    public TOptions Secured<TOptions>(TOptions options)
        where TOptions : SocketOptions
    {
        options.Tls.CaFile = Get(Options.Ca) ?? "";
        options.Tls.CertificateFile = Get(Options.Certificate) ?? "";
        options.Tls.KeyFile = Get(Options.Key) ?? "";
        options.Tls.VerifyPeer = !Get(Options.Insecure);
        if (options is ZmpSocketOptions zmp)
        {
            zmp.ReconnectAfterFault = false; // A peer of another type stays one: the user is to see it at once.
        }

        return options;
    }

    /// <summary>Binds or connects. An endpoint that can never be connected ends the command.</summary>
    public TSocket Join<TSocket>(TSocket socket)
        where TSocket : ZmpSocket => Join(socket, Endpoint, Get(Options.Bind));

    public TSocket Join<TSocket>(TSocket socket, string endpoint, bool bind)
        where TSocket : ZmpSocket
    {
        _socket = socket;
        socket.OnEvent(SocketEventTypes.ConnectGivenUp, given => Fail($"{given.RemoteAddress} cannot be connected: {given.Detail}"));
        if (bind)
        {
            ReportListening(socket.Bind(endpoint));
        }
        else
        {
            socket.Connect(endpoint);
        }

        return socket;
    }

    public void ReportListening(string endpoint) => Report($"listening at {endpoint}");

    /// <summary>
    /// The messages to send, at --rate at most: the given parts, --count times or once; else the lines of standard input.
    /// </summary>
    public async IAsyncEnumerable<byte[][]> MessagesAsync([EnumeratorCancellation] CancellationToken cancellation)
    {
        string[] parts = Get(Options.Parts) ?? [];
        byte[][]? given = parts.Length > 0 ? [.. parts.Select(part => MessageText.ReadPart(Format, part))] : null;
        long count = Get(Options.Count) ?? (given is null ? long.MaxValue : 1);
        for (long sent = 0; sent < count; sent++)
        {
            if (given is not null)
            {
                yield return given;
            }
            else if (await _input.ReadLineAsync(cancellation).ConfigureAwait(false) is { } line)
            {
                yield return MessageText.Read(Format, line);
            }
            else
            {
                yield break;
            }

            await KeepRateAsync(sent + 1, cancellation).ConfigureAwait(false);
        }
    }

    public void Print(in Message message, string from = "")
    {
        var parts = new ReadOnlyMemory<byte>[message.PartCount];
        for (int i = 0; i < parts.Length; i++)
        {
            parts[i] = message[i];
        }

        Print(parts, from);
    }

    /// <summary>Prints lines of a server or a list, as text or as JSON, each of which counts.</summary>
    public void Print(string text, Action<Utf8JsonWriter> json)
    {
        Out.WriteLine(Format is MessageFormat.Json ? MessageText.Json(json) : text);
        _printed++;
    }

    public void Print(IReadOnlyList<ReadOnlyMemory<byte>> parts, string from = "")
    {
        Out.WriteLine(MessageText.Write(Format, parts, from));
        _printed++;
    }

    /// <summary>Prints what a socket receives until --count.</summary>
    public async Task PrintAllAsync(IMessageReceiver socket)
    {
        while (!IsComplete)
        {
            using Message message = await socket.ReceiveAsync(Token).ConfigureAwait(false);
            Print(message);
        }
    }

    /// <summary>Waits until what was sent is written, and says what was not.</summary>
    public async Task DeliverAsync()
    {
        _isDelivering = true;
        TimeSpan left = _limit is { } limit ? limit - Stopwatch.GetElapsedTime(_started) : Timeout.InfiniteTimeSpan;
        ShutdownReport report = await Context.ShutdownAsync(_limit is null || left > TimeSpan.Zero ? left : TimeSpan.Zero, Token)
            .ConfigureAwait(false);
        if (report.UndeliveredMessages > 0)
        {
            throw new ToolException(string.Create(CultureInfo.InvariantCulture,
                $"{report.UndeliveredMessages} messages were not delivered: {WhyNotConnected ?? "the peer did not take them in time"}"),
                ExitCode.TimeOver);
        }
    }

    /// <summary>The exit code when the time is over. Where no count was asked for, what came until then is what was asked for.</summary>
    public int EndOfTime()
    {
        if (IsServer || (_printed > 0 && Get(Options.Count) is null))
        {
            return ExitCode.Done;
        }

        Report($"the time is over{((WhyNoAnswer ?? WhyNotConnected) is { } why ? $"; {why}" : "")}. A longer --timeout waits for longer");
        return ExitCode.TimeOver;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_isDelivering) // Else it has ended, or Ctrl-C has ended the wait for a peer that may never come.
        {
            await Context.ShutdownAsync(TimeSpan.Zero).ConfigureAwait(false);
        }

        _end.Dispose();
    }

    private string? WhyNotConnected => _socket?.GetPeers().FirstOrDefault(static peer => peer.WhyNotConnected is not null) is { } peer
        ? $"{peer.Endpoint} is not connected: {peer.WhyNotConnected}"
        : null;

    private void Fail(string why)
    {
        Failure = why;
        _end.Cancel();
    }

    private async Task KeepRateAsync(long sent, CancellationToken cancellation)
    {
        if (Get(Options.Rate) is not { } rate)
        {
            return;
        }

        TimeSpan early = TimeSpan.FromSeconds(sent / rate) - Stopwatch.GetElapsedTime(_started);
        if (early > TimeSpan.FromMilliseconds(1))
        {
            await Task.Delay(early, cancellation).ConfigureAwait(false);
        }
    }
}
