namespace Net.Zlink.Services;

/// <summary>
/// When a subscriber gets an answer to its subscription: the first at once, further ones of its connection not more often than its list
/// takes at the rate of broadcasts. Guarded by the publisher's lock.
/// </summary>
internal sealed class PacedAnswers(TimeSpan minInterval)
{
    private readonly List<Asker> _waiting = [];

    /// <summary>When the next one that waits is due; null: none waits.</summary>
    public TimeSpan? NextAt => _waiting.Count == 0 ? null : _waiting.Min(static asker => asker.NextAt);

    /// <summary>Whether a notice may be answered now. Otherwise its subscriber is answered later, once for all that it asks until
    /// then.</summary>
    public bool MayAnswer(TimeSpan now, in Message notice)
    {
        if (notice.UserState is not Asker asker)
        {
            notice.UserState = new Asker();
            return true;
        }

        if (now >= asker.NextAt && !asker.IsWaiting)
        {
            return true;
        }

        if (!asker.IsWaiting)
        {
            asker.Wait(notice);
            _waiting.Add(asker);
        }

        return false;
    }

    /// <summary>An answer went out that takes so long at the rate.</summary>
    public void Answered(TimeSpan now, in Message notice, TimeSpan pace) =>
        ((Asker)notice.UserState!).NextAt = now + (pace > minInterval ? pace : minInterval);

    /// <summary>Answers those that are due.</summary>
    public void AnswerDue(TimeSpan now, Action<Message> answer)
    {
        for (int i = _waiting.Count - 1; i >= 0; i--)
        {
            Asker asker = _waiting[i];
            if (now >= asker.NextAt)
            {
                _waiting.RemoveAt(i);
                using Message notice = asker.EndWait();
                answer(notice);
            }
        }
    }

    public void Clear()
    {
        _waiting.ForEach(static asker => asker.EndWait().Dispose());
        _waiting.Clear();
    }

    private sealed class Asker
    {
        private Message _notice;

        public TimeSpan NextAt { get; set; }

        public bool IsWaiting { get; private set; }

        public void Wait(in Message notice) => (_notice, IsWaiting) = (notice.Copy(), true);

        public Message EndWait()
        {
            IsWaiting = false;
            return _notice;
        }
    }
}
