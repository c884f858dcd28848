using System.Runtime.InteropServices;

namespace Net.Zlink.Porting;

/// <summary>Runs a <see cref="SocketProxy"/> with a control socket, for ported code. New code calls the proxy's methods.</summary>
public static class NativeProxy
{
    private const int NumberSize = sizeof(ulong);

    /// <summary>Runs a proxy, and obeys the native commands that a control socket receives, until the run ends.</summary>
    /// <remarks>
    /// A command is a message of one part. PAUSE, RESUME and TERMINATE get an empty answer. STATISTICS gets eight parts of 8 bytes in the
    /// machine's byte order: parts and bytes received from the front, sent to the front, received from the back, sent to the back. In
    /// contrast to the native core, PAUSE pauses and RESUME resumes. Other commands get an empty answer and do nothing. An answer that the
    /// control socket cannot accept at once is dropped; SUB gives none.
    /// </remarks>
    /// <param name="proxy">A proxy that is not running.</param>
    /// <param name="control">Receives commands. A separate socket, and not owned.</param>
    /// <param name="cancellationToken">Ends the run.</param>
    /// <returns>A task that completes when TERMINATE ends the run.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="proxy"/> or <paramref name="control"/> is null.</exception>
    /// <exception cref="ArgumentException">
    /// The control socket sends with Conflate, which cannot take the eight parts of STATISTICS.
    /// </exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ZlinkException">ContextTerminated: the context of one of the sockets was shut down.</exception>
    /// <exception cref="ObjectDisposedException">One of the sockets was disposed.</exception>
    /// <exception cref="InvalidOperationException">It is running.</exception>
    public static Task RunAsync(SocketProxy proxy, ReceivingSocket control, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(proxy);
        ArgumentNullException.ThrowIfNull(control);
        return control is DealerSocket { Options.Conflate: true }
            ? throw new ArgumentException("A control socket sends answers of eight parts: make it without Conflate.", nameof(control))
            : RunBothAsync(proxy, control, proxy.RunAsync(cancellationToken));
    }

    private static async Task RunBothAsync(SocketProxy proxy, ReceivingSocket control, Task run)
    {
        using var end = new CancellationTokenSource();
        Task commands = ObeyAsync(proxy, control, end.Token);
        if (await Task.WhenAny(run, commands).ConfigureAwait(false) == commands)
        {
            proxy.Stop();
            await run.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            await commands.ConfigureAwait(false); // Throws if the control socket has ended.
        }

        await end.CancelAsync().ConfigureAwait(false);
        await commands.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await run.ConfigureAwait(false);
    }

    private static async Task ObeyAsync(SocketProxy proxy, ReceivingSocket control, CancellationToken end)
    {
        bool ends = false;
        while (!ends)
        {
            using Message command = await control.ReceiveAsync(end).ConfigureAwait(false);
            using var answer = new MessageBuilder();
            ends = Obey(proxy, command, answer);
            TrySend(control, command, answer);
        }
    }

    private static bool Obey(SocketProxy proxy, in Message command, MessageBuilder answer)
    {
        ReadOnlySpan<byte> name = command.PartCount == 1 ? command.Span : [];
        if (name.SequenceEqual("STATISTICS"u8))
        {
            ProxyStatistics now = proxy.GetStatistics();
            Add(answer, now.FrontReceived);
            Add(answer, now.FrontSent);
            Add(answer, now.BackReceived);
            Add(answer, now.BackSent);
            return false;
        }

        answer.Add([]); // Unknown commands get an answer too, as in the native core.
        if (name.SequenceEqual("PAUSE"u8))
        {
            proxy.Pause();
        }
        else if (name.SequenceEqual("RESUME"u8))
        {
            proxy.Resume();
        }

        return name.SequenceEqual("TERMINATE"u8);
    }

    private static void TrySend(ReceivingSocket control, in Message command, MessageBuilder answer)
    {
        if (control is RouterSocket router)
        {
            router.To(command).TrySend(answer);
        }
        else
        {
            (control as IMessageSender)?.TrySend(answer);
        }
    }

    private static void Add(MessageBuilder answer, ProxyTraffic traffic)
    {
        MemoryMarshal.Write(answer.AddSpace(NumberSize), (ulong)traffic.Parts);
        MemoryMarshal.Write(answer.AddSpace(NumberSize), (ulong)traffic.Bytes);
    }
}
