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
            await (string.Equals(mode, EchoModes.PullMany, StringComparison.Ordinal) ? PullManyAsync(cancellation) : PullAsync(cancellation));
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

    private async Task PullManyAsync(CancellationToken cancellation)
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
            for (int i = 0; i < received; i++)
            {
                using StreamMessage message = messages[i];
                if (message.Kind == StreamMessageKind.Data && !Answer(message))
                {
                    await AnswerWaitingAsync(message, cancellation);
                }
            }
        }
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
internal sealed class EchoHandler(EchoCounts counts) : StreamHandler
{
    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> payload in frames)
        {
            Interlocked.Increment(ref counts.Messages);

            // The window of our own client is far below the high-water mark: a refusal would show as a lost reply, and fail the run.
            peer.TrySend(payload.Span);
        }

        return ValueTask.CompletedTask;
    }
}
