namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>The measured server: sends back what comes, in one of the ways of <see cref="EchoModes"/>.</summary>
internal sealed class EchoLoop(StreamSocket socket, EchoCounts counts)
{
    // As many as one read of a shard yields at small sizes: more would only make the loop's own array larger.
    private const int Batch = 256;

    public async Task RunAsync(string mode, CancellationToken cancellation)
    {
        try
        {
            await (mode switch
            {
                EchoModes.PullMany => PullManyAsync(passesOn: false, cancellation),
                EchoModes.PullHere => PullManyAsync(passesOn: true, cancellation),
                _ => PullAsync(cancellation),
            });
        }
        catch (OperationCanceledException)
        {
        }
    }

    private async Task PullAsync(CancellationToken cancellation)
    {
        while (true)
        {
            ValueTask<StreamMessage> receive = socket.ReceiveAsync(cancellation);
            if (!receive.IsCompleted)
            {
                Interlocked.Increment(ref counts.ReceiveWaits);
            }

            using StreamMessage message = await receive;
            if (message.Kind == StreamMessageKind.Data && !Answer(message))
            {
                await AnswerWaitingAsync(message, cancellation);
            }
        }
    }

    private async Task PullManyAsync(bool passesOn, CancellationToken cancellation)
    {
        var messages = new StreamMessage[Batch];
        while (true)
        {
            ValueTask<int> receive = socket.ReceiveManyAsync(messages, cancellation);
            if (!receive.IsCompleted)
            {
                Interlocked.Increment(ref counts.ReceiveWaits);
            }

            int received = await receive;
            for (int i = passesOn ? PassOn(messages.AsSpan(0, received)) : 0; i < received; i++)
            {
                using StreamMessage message = messages[i];
                if (message.Kind == StreamMessageKind.Data && !Answer(message))
                {
                    await AnswerWaitingAsync(message, cancellation);
                }
            }
        }
    }

    /// <summary>Passes back what is of one peer, from the first message on; returns how many.</summary>
    private int PassOn(ReadOnlySpan<StreamMessage> messages)
    {
        int count = 0;
        while (count < messages.Length && messages[count].Kind == StreamMessageKind.Data && messages[count].PeerId == messages[0].PeerId)
        {
            count++;
        }

        int sent = count == 0 ? 0 : socket.SendMany(messages[0].PeerId, messages[..count], out _);
        Interlocked.Add(ref counts.Messages, sent);
        return sent;
    }

    /// <summary>False: there is no room now.</summary>
    private bool Answer(StreamMessage message)
    {
        Interlocked.Increment(ref counts.Messages);
        return socket.TrySend(message.PeerId, message.Span, out ZlinkError error) || error == ZlinkError.HostUnreachable;
    }

    /// <summary>Not an async method: the wait itself is what is measured, not a second state machine around it.</summary>
    private ValueTask AnswerWaitingAsync(StreamMessage message, CancellationToken cancellation)
    {
        ValueTask send = socket.SendAsync(message.PeerId, message.Payload, cancellation);
        if (!send.IsCompleted)
        {
            Interlocked.Increment(ref counts.SendWaits);
        }

        return send;
    }
}

/// <summary>The measured server, push: answers on the shard.</summary>
internal sealed class EchoHandler(EchoCounts counts, bool passesOn = false) : StreamHandler
{
    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        if (passesOn)
        {
            Interlocked.Add(ref counts.Messages, peer.SendMany(frames, out _));
            return ValueTask.CompletedTask;
        }

        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            Interlocked.Increment(ref counts.Messages);

            // The window of our own client is far below the high-water mark: a refusal would show as a lost reply, and fail the run.
            peer.TrySend(payload.Span);
        }

        return ValueTask.CompletedTask;
    }
}
