import './viewer.css';
import { h, hydrate } from 'preact';

hydrate(h('p', null), document.body);
