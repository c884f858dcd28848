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
                EchoModes.Batches => AnswerBatchesAsync(passesOn: false, cancellation),
                EchoModes.BatchesOn => AnswerBatchesAsync(passesOn: true, cancellation),
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

    /// <summary>Answers what came of one peer with one SendManyAsync.</summary>
    private async Task AnswerBatchesAsync(bool passesOn, CancellationToken cancellation)
    {
        var messages = new StreamMessage[Batch];
        var payloads = new ReadOnlyMemory<byte>[Batch];
        while (true)
        {
            int received = await Counted(socket.ReceiveManyAsync(messages, cancellation), ref counts.ReceiveWaits);
            for (int from = 0; from < received;)
            {
                int count = OfOnePeer(messages.AsSpan(from, received - from));
                if (count == 0)
                {
                    messages[from++].Dispose(); // A peer has come or gone.
                    continue;
                }

                Interlocked.Add(ref counts.Messages, count);
                uint peerId = messages[from].PeerId;
                Memory<StreamMessage> batch = messages.AsMemory(from, count);
                if (passesOn)
                {
                    await Counted(socket.SendManyAsync(peerId, batch, cancellation), ref counts.SendWaits);
                }
                else
                {
                    for (int i = 0; i < count; i++)
                    {
                        payloads[i] = messages[from + i].Payload;
                    }

                    await Counted(socket.To(peerId).SendManyAsync(payloads.AsMemory(0, count), cancellation), ref counts.SendWaits);
                    foreach (StreamMessage message in batch.Span)
                    {
                        message.Dispose();
                    }
                }

                from += count;
            }
        }
    }

    /// <summary>How many messages are of one peer, from the first one on; 0 if that is an event.</summary>
    private static int OfOnePeer(ReadOnlySpan<StreamMessage> messages)
    {
        int count = 0;
        while (count < messages.Length && messages[count].Kind == StreamMessageKind.Data && messages[count].PeerId == messages[0].PeerId)
        {
            count++;
        }

        return count;
    }

    /// <summary>Not an async method: the wait itself is what is measured, not a second state machine around it.</summary>
    private static ValueTask<int> Counted(ValueTask<int> wait, ref long waits)
    {
        if (!wait.IsCompleted)
        {
            Interlocked.Increment(ref waits);
        }

        return wait;
    }

    /// <summary>Passes back what is of one peer, from the first message on; returns how many.</summary>
    private int PassOn(ReadOnlySpan<StreamMessage> messages)
    {
        int count = OfOnePeer(messages);
        int sent = count == 0 ? 0 : socket.SendMany(messages[0].PeerId, messages[..count]);
        Interlocked.Add(ref counts.Messages, sent);
        return sent;
    }

    /// <summary>False: there is no room now.</summary>
    private bool Answer(StreamMessage message)
    {
        Interlocked.Increment(ref counts.Messages);
        return socket.To(message.PeerId).TrySend(message.Span) is { Reason: SendFailure.None or SendFailure.NoPeer };
    }

    /// <summary>Not an async method: the wait itself is what is measured, not a second state machine around it.</summary>
    private ValueTask AnswerWaitingAsync(StreamMessage message, CancellationToken cancellation)
    {
        ValueTask send = socket.To(message.PeerId).SendAsync(message.Payload, cancellation);
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
            Interlocked.Add(ref counts.Messages, peer.SendMany(frames));
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
