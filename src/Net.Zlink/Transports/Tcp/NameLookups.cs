using System.Net;
using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tcp;

/// <summary>
/// On Linux the runtime's asynchronous lookup blocks a pool thread without the pool's knowledge: with ten names and a silent name server
/// nothing else in the process runs. Concurrent lookups of one name share the answer; nothing is cached.
/// </summary>
internal sealed class NameLookups(Func<string, AddressFamily, IPAddress[]> lookup)
{
    // A silent name server holds a thread for 10 to 30 s (two tries of 5 s at up to three servers), and further lookups wait as long. 64 is
    // more than the dead names of most processes, some 6 MB, and 64 of the usual 1,024 descriptors.
    public const int MaxThreads = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Name, AddressFamily Family), Question> _asked = [];
    private readonly Queue<Question> _waiting = new();
    private int _threads;

    /// <summary>A cancelled caller leaves at once; the lookup continues for others.</summary>
    public async Task<IPAddress[]> LookupAsync(string name, AddressFamily family, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        Question question = Join(name, family, out bool hasThread);
        if (hasThread)
        {
            OwnThread.Start(() => Work(question), "Net.Zlink names");
        }

        try
        {
            return await question.Answer.Task.WaitAsync(cancellation).ConfigureAwait(false);
        }
        finally
        {
            lock (_gate)
            {
                question.Askers--;
            }
        }
    }

    private Question Join(string name, AddressFamily family, out bool hasThread)
    {
        lock (_gate)
        {
            hasThread = false;
            if (!_asked.TryGetValue((name, family), out Question? question))
            {
                question = new Question(name, family);
                _asked.Add((name, family), question);
                hasThread = _threads < MaxThreads;
                if (hasThread)
                {
                    _threads++;
                }
                else
                {
                    _waiting.Enqueue(question);
                }
            }

            question.Askers++;
            return question;
        }
    }

    private void Work(Question first)
    {
        for (Question? next = first; next is not null;)
        {
            Question current = next;
            IPAddress[] found = [];
            Exception? fault = null;
            try
            {
                found = lookup(current.Name, current.Family);
            }
#pragma warning disable CA1031
            catch (Exception e)
#pragma warning restore CA1031
            {
                fault = e;
            }

            next = DequeueNext(current);
            current.End(found, fault);
        }
    }

    private Question? DequeueNext(Question done)
    {
        lock (_gate)
        {
            _asked.Remove((done.Name, done.Family));
            while (_waiting.TryDequeue(out Question? next))
            {
                if (next.Askers > 0)
                {
                    return next;
                }

                // Not removed when its last caller left: a retrying endpoint keeps its position.
                _asked.Remove((next.Name, next.Family));
            }

            _threads--;
            return null;
        }
    }

    private sealed class Question(string name, AddressFamily family)
    {
        public string Name => name;

        public AddressFamily Family => family;

        public int Askers { get; set; }

        public TaskCompletionSource<IPAddress[]> Answer { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void End(IPAddress[] found, Exception? fault)
        {
            if (fault is null)
            {
                Answer.SetResult(found);
                return;
            }

            Answer.SetException(fault);
            _ = Answer.Task.Exception;
        }
    }
}
